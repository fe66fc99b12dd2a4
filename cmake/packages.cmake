# Everything here is a Debian 12 package; scripts/lib/packages lists them.
find_package(Threads REQUIRED)
find_package(absl REQUIRED)
find_package(fmt REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
# The allocator of the release binaries; sanitizers bring their own.
pkg_check_modules(TCMALLOC REQUIRED IMPORTED_TARGET libtcmalloc_minimal)
if(HODEI_WITH_TESTS)
  find_package(GTest REQUIRED)
endif()
if(HODEI_WITH_GRPC)
  find_package(Protobuf REQUIRED)
  find_package(gRPC CONFIG REQUIRED)
  find_package(yaml-cpp REQUIRED)
  pkg_check_modules(SECCOMP REQUIRED IMPORTED_TARGET libseccomp)   # sandboxes of the worker
  pkg_check_modules(RE2 REQUIRED IMPORTED_TARGET re2)
endif()
