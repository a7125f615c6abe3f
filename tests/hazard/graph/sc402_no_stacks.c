// expect: SC402 action=snapshotted certainty=observed event=cuGraphLaunch
// options: stacks=none
//
// The report has no whole stacks. The frame of the local is looked for all the same.
#include "sc402_added_node.c"
