# Runs the programs of the folder ${programs} from another folder, and the example
# below ${documents}, built with CMake and with pkg-config against the package
# ${name} and run with the folders ${loader_path}. check_install.cmake and
# check_package.cmake include this file and document the other variables.

set(ENV{TESSERA_DEVICE} emulated:gfx942)
set(ENV{XDG_CACHE_HOME} ${WORK}/cache)
set(ENV{MIOPEN_CUSTOM_CACHE_DIR} ${WORK}/cache)
file(MAKE_DIRECTORY ${WORK}/run)

# run_for(TEXT COMMAND...) fails unless the command succeeds and prints the regular
# expression TEXT.
function(run_for expected)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY ${WORK}/run
    OUTPUT_VARIABLE output ERROR_VARIABLE output RESULT_VARIABLE result)
  if(NOT result EQUAL 0 OR NOT output MATCHES "${expected}")
    message(FATAL_ERROR
      "'${ARGN}' left with ${result}, without '${expected}':\n${output}")
  endif()
endfunction()

foreach(guide pipeline replacing-miopen tuning)
  if(NOT EXISTS ${documents}/guides/${guide}.md)
    message(FATAL_ERROR "the guide ${guide}.md is not installed")
  endif()
endforeach()
foreach(program dnn-driver dnn-emu dnn-fit dnn-opt dnn-sweep dnn-tune)
  if(NOT EXISTS ${programs}/${program})
    message(FATAL_ERROR "${program} is not installed")
  endif()
endforeach()
file(GLOB installed ${programs}/*) # dnn-onnx is not built everywhere.
foreach(program IN LISTS installed)
  run_for("" ${program} --help)
endforeach()

# Each program finds the library, the compiler process or the device that it needs.
set(problem convfp16 -n 2 -c 32 -H 8 -W 8 -k 32 -y 3 -x 3 -p 1 -q 1 -F 1
  -I NHWC -O NHWC -f NHWC)
list(JOIN problem " " line)
file(WRITE ${WORK}/run/list.txt "${line}\n")
run_for("Verifies OK" ${programs}/dnn-driver ${problem} -V 1 -i 1)
run_for("" ${programs}/dnn-opt --problem ${line} --target gfx942 -o conv.hsaco)
run_for("buffer_load" ${programs}/dnn-emu conv.hsaco --disassemble)
run_for("1 of 1 problems tuned" ${programs}/dnn-tune list.txt --candidates 3
  --table tiles.csv)
run_for("values of 1 runs" ${programs}/dnn-fit --model gemm --target gfx942
  --steps 0 tiles.csv)
run_for("" ${programs}/dnn-sweep --list list.txt)
run_for("" ${programs}/dnn-sweep --count 3)

file(COPY ${documents}/examples DESTINATION ${WORK})
set(example ${WORK}/examples)
run(${CMAKE_COMMAND} -S ${example} -B ${example}/build -G ${GENERATOR}
  -DCMAKE_C_COMPILER=${C})
run(${CMAKE_COMMAND} --build ${example}/build)
execute_process(COMMAND pkg-config --cflags --libs ${name}
  OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(flags UNIX_COMMAND "${flags}")
run(${C} ${example}/convolution.c -o ${example}/convolution-pc ${flags}
  -lamdhip64)
set(ENV{LD_LIBRARY_PATH} ${loader_path})
foreach(program build/convolution convolution-pc)
  run_for("^0 of 64 pixels are wrong\n$" ${example}/${program})
endforeach()
unset(ENV{LD_LIBRARY_PATH})
