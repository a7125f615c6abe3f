// expect: SC201 action=stalled kind=pinned certainty=observed
//
// The same of a graph of one node, which is empty.
#define ONE_EMPTY_NODE
#include "sc201_empty_legacy_launch.c"
