/* The same plugin by another name, which the loader maps at the same address. */
#include "owner_first.c"
