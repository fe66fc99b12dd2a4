# Compiling the files of a folder in batches: what they include is read once per batch, not once per file, and a build
# from nothing takes a quarter of the processor time.
#
# A batch includes its files by their path from the root, so its text is the same in every clone and ccache finds it.
# Files of one folder therefore share a translation unit: names in their anonymous namespaces must differ. What batches
# hide, a file that does not include what it uses, is found by daily builds (HODEI_UNITY=OFF) and by the step `checks`.
set(HODEI_BATCH_SIZE 28 CACHE STRING "How many files are compiled as one, with HODEI_UNITY")

# hodei_batches(OUT NAME FILE…): sets OUT to what is to be compiled: the files, or batches of them.
function(hodei_batches out name)
  if(NOT HODEI_UNITY)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  list(LENGTH ARGN count)
  set(batches)
  set(number 0)
  set(begin 0)
  while(begin LESS count)
    list(SUBLIST ARGN ${begin} ${HODEI_BATCH_SIZE} files)
    math(EXPR begin "${begin} + ${HODEI_BATCH_SIZE}")
    set(text "")
    foreach(file IN LISTS files)
      file(REAL_PATH ${file} file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
      file(RELATIVE_PATH file ${CMAKE_SOURCE_DIR} ${file})
      string(APPEND text "#include \"${file}\"\n")
    endforeach()
    set(batch ${CMAKE_CURRENT_BINARY_DIR}/batches/${name}_${number}.cc)
    file(CONFIGURE OUTPUT ${batch} CONTENT "${text}" @ONLY)
    list(APPEND batches ${batch})
    math(EXPR number "${number} + 1")
  endwhile()
  set(${out} ${batches} PARENT_SCOPE)
endfunction()

# hodei_precompile(TARGET [HEADER…]): the headers that nearly every file of the target includes. Batches read them so
# seldom that precompiling costs more than it saves.
function(hodei_precompile target)
  if(NOT HODEI_UNITY)
    target_precompile_headers(${target} PRIVATE ${CMAKE_SOURCE_DIR}/cmake/pch.h ${ARGN})
  endif()
endfunction()
