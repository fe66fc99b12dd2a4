# Compiler, linker and cache settings shared by every target.
find_program(HODEI_CCACHE ccache)
if(HODEI_CCACHE)
  # base_dir and hash_dir let clones and worktrees in different folders share the cache.
  set(_ccache ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime ${HODEI_CCACHE})
  set(CMAKE_C_COMPILER_LAUNCHER ${_ccache})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${_ccache})
endif()

find_program(HODEI_MOLD mold)
if(HODEI_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Werror -Wshadow -Wnon-virtual-dtor -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 reports these in its own headers when it inlines std::variant and std::string.
  add_compile_options(-Wno-maybe-uninitialized -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread -Wno-array-bounds)
  add_compile_options(-fpch-preprocess)
  if(HODEI_UNITY)
    add_compile_options(-Wno-subobject-linkage)   # a batch counts as a header to GCC, and so do the classes in it
  endif()
endif()
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)

if(HODEI_SANITIZE)
  add_compile_options(-fsanitize=${HODEI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HODEI_SANITIZE})
  if(HODEI_SANITIZE MATCHES thread)
    # Boost.Asio has fences, which TSan does not know and GCC warns of.
    add_compile_options(-Wno-tsan)
  endif()
endif()
