# The numerical libraries, as one target: SUNDIALS (CVODE, ARKODE, IDA, KINSOL), SuiteSparse's KLU, LAPACK; METIS, which halves
# graphs; NLopt, which finds least values.
# SUNDIALS' own CMake package asks for MPI and PETSc on Debian, of which nothing here is used: so the parts are found one
# by one.
add_library(tutti_solvers INTERFACE)

set(tutti_solver_libraries sundials_cvode sundials_arkode sundials_ida sundials_kinsol sundials_nvecserial sundials_sunmatrixdense
    sundials_sunmatrixsparse sundials_sunlinsoldense sundials_sunlinsolspgmr sundials_sunlinsolklu klu lapack blas metis nlopt)
# One file of SUNDIALS, between it and KLU, is linked static where that can be had: Debian ships the shared one together with
# solvers of PETSc, and whoever installs Tutti would get Open MPI, Trilinos and a hundred packages more.
find_library(TUTTI_LIB_sundials_sunlinsolklu NAMES libsundials_sunlinsolklu.a sundials_sunlinsolklu REQUIRED)
foreach(part ${tutti_solver_libraries})
    find_library(TUTTI_LIB_${part} ${part} REQUIRED)
    mark_as_advanced(TUTTI_LIB_${part})
    target_link_libraries(tutti_solvers INTERFACE ${TUTTI_LIB_${part}})
endforeach()

find_path(TUTTI_KLU_INCLUDE klu.h PATH_SUFFIXES suitesparse REQUIRED)
find_path(TUTTI_SUNDIALS_INCLUDE cvode/cvode.h REQUIRED)
find_path(TUTTI_METIS_INCLUDE metis.h REQUIRED)
mark_as_advanced(TUTTI_KLU_INCLUDE TUTTI_SUNDIALS_INCLUDE TUTTI_METIS_INCLUDE)
target_include_directories(tutti_solvers SYSTEM INTERFACE ${TUTTI_KLU_INCLUDE} ${TUTTI_SUNDIALS_INCLUDE} ${TUTTI_METIS_INCLUDE})

# For those who link the static library.
list(TRANSFORM tutti_solver_libraries PREPEND -l OUTPUT_VARIABLE tutti_solver_flags)
list(JOIN tutti_solver_flags " " tutti_solver_flags)
