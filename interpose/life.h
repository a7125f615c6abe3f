/* The life of the process that we live in: start, fork, exit. */
#ifndef SC_INTERPOSE_LIFE_H
#define SC_INTERPOSE_LIFE_H

#include "interpose/upcalls.h"

#endif
