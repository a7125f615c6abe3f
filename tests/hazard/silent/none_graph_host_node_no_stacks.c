// expect: none
// options: stacks=none:stall_limit=60s
//
// With stacks=none, where nothing tells a host node of a graph from any other function, the same
// program is as right.
#include "none_graph_host_node_touches.c"
