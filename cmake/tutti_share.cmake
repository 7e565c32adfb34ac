# What the command says of itself, as files for share/: manual pages and completion for shells.
#   cmake -DTUTTI=... -DOUT=FOLDER -P tutti_share.cmake
function(write_share file)
    execute_process(COMMAND ${TUTTI} ${ARGN} OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
    file(WRITE ${OUT}/${file} "${text}")
endfunction()

file(REMOVE_RECURSE ${OUT})
execute_process(COMMAND ${TUTTI} --help OUTPUT_VARIABLE help COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "\n  [a-z]+ " lines "${help}")
write_share(man/man1/tutti.1 help --man)
foreach(line ${lines})
    string(STRIP ${line} name)
    write_share(man/man1/tutti-${name}.1 help --man ${name})
endforeach()
write_share(bash-completion/completions/tutti completion bash)
write_share(zsh/site-functions/_tutti completion zsh)
write_share(fish/vendor_completions.d/tutti.fish completion fish)
