// Not a decoder: breaks its own promise for one input, so that `tests/fuzz/run --self-test` can see that a broken
// promise is found and reported.
#include "tests/fuzz/fuzz.h"

FUZZ_TARGET(input) { REQUIRE(!input.starts_with("bad"), input); }
