// expect: none
// options: stacks=none:stall_limit=60s
//
// With stacks=none the thread tells a host node of a graph: the driver started it. The same program
// is as right.
#include "none_graph_host_node_touches.c"
