/* The codes of hazards by short names, for random programs. Include once.
 */
#ifndef SC_TESTS_FUZZ_RANDOM_CODES_H
#define SC_TESTS_FUZZ_RANDOM_CODES_H

static const char *const code_names[] = {
#define SC_HAZARD(code, name, subject, advice) #code,
#include "common/hazard.def"
};
enum {
    FREED_SOURCE,
    FREED_DESTINATION,
    UNREGISTERED,
    UNMAPPED,
    FREED_PINNED,
    OVERWRITTEN,
    READ_EARLY,
    WRITTEN_EARLY,
    UNORDERED,
    LEGACY_IN_CAPTURE,
    UNPERMITTED,
    UNPERMITTED_ELSEWHERE,
    MISSING_FROM_GRAPH,
    LEFT_OUT_OF_GRAPH,
    GRAPH_FREED,
    GRAPH_ON_STACK,
    GRAPH_OVERWRITTEN,
    DEVICE_IN_FLIGHT,
    DEVICE_ALLOCATION,
    NEVER_FREED,
    MANAGED_TOO_LARGE,
    LIMIT_TOO_LATE,
    CODES
};
_Static_assert(CODES == sizeof code_names / sizeof code_names[0], "one for each code");

#endif
