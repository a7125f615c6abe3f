// expect: SC201 action=stalled kind=pinned certainty=observed
//
// As sc201_empty_legacy_launch, with a graph of one node, which is empty.
#define WITH_EMPTY_NODE true
#include "sc201_empty_legacy_launch.c"
