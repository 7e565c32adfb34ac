# SPDX-License-Identifier: MIT
# tutti_ssp.cmake - systems as packages (SSP): include() this file, then
#
#   tutti_add_ssp(NAME SSD SystemStructure.ssd [variant.ssd...] FMUS target... [RESOURCES file...])
#
# packs NAME.ssp into the folder's build directory: the .ssd files at its root (SystemStructure.ssd is the default one,
# others are variants), the FMUs and the other files in resources/. FMUS are FMUs of tutti_add_fmu, as NAME_fmi2; of all
# folders that were added before. The package is made anew when one of its parts has changed. The target `ssps` stands
# for all packages.

include_guard(GLOBAL)

function(tutti_add_ssp name)
    cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SSD;FMUS;RESOURCES")
    if(arg_UNPARSED_ARGUMENTS OR NOT arg_SSD)
        message(FATAL_ERROR "tutti_add_ssp(${name}): SSD file..., FMUS target..., RESOURCES file...")
    endif()
    set(ssp ${CMAKE_CURRENT_BINARY_DIR}/${name}.ssp)
    set(stage ${CMAKE_CURRENT_BINARY_DIR}/stage/${name}_ssp)
    set(depends "")
    set(entries "")
    set(copy "")
    foreach(file IN LISTS arg_SSD)
        get_filename_component(path ${file} ABSOLUTE)
        get_filename_component(last ${file} NAME)
        list(APPEND depends ${path})
        list(APPEND entries ${last})
        list(APPEND copy COMMAND ${CMAKE_COMMAND} -E copy ${path} ${stage}/${last})
    endforeach()
    foreach(id IN LISTS arg_FMUS)
        get_target_property(fmu ${id}_fmu TUTTI_FMU_FILE)
        list(APPEND depends ${id}_fmu ${fmu})
        list(APPEND entries resources/${id}.fmu)
        list(APPEND copy COMMAND ${CMAKE_COMMAND} -E copy ${fmu} ${stage}/resources)
    endforeach()
    foreach(file IN LISTS arg_RESOURCES)
        get_filename_component(path ${file} ABSOLUTE)
        get_filename_component(last ${file} NAME)
        list(APPEND depends ${path})
        list(APPEND entries resources/${last})
        list(APPEND copy COMMAND ${CMAKE_COMMAND} -E copy ${path} ${stage}/resources)
    endforeach()
    add_custom_command(
        OUTPUT ${ssp}
        COMMAND ${CMAKE_COMMAND} -E rm -rf ${stage}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${stage}/resources
        ${copy}
        COMMAND ${CMAKE_COMMAND} -E chdir ${stage} ${CMAKE_COMMAND} -E tar cf ${ssp} --format=zip
                --mtime=2000-01-01 ${entries}
        DEPENDS ${depends}
        COMMENT "Packing ${name}.ssp"
        VERBATIM)
    add_custom_target(${name}_ssp DEPENDS ${ssp})
    if(NOT TARGET ssps)
        add_custom_target(ssps ALL)
    endif()
    add_dependencies(ssps ${name}_ssp)
endfunction()
