/* The functions of twin.h for the programs that are linked with them. */
#define TWIN_LINKED
#include "twin_helpers.h"

bool fixed;
