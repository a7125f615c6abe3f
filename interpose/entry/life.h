/* The life of the process that we live in: start, fork, exit. */
#ifndef SC_INTERPOSE_ENTRY_LIFE_H
#define SC_INTERPOSE_ENTRY_LIFE_H

#endif
