/* cubin.c: images of modules as the device has them. */
#ifndef SIM_CUBIN_H
#define SIM_CUBIN_H

#include <stddef.h>

/* The image that is made of PTX, for the caller to free; NULL without memory. */
char *sim_cubin_of_text(const char *text, size_t *bytes);

/* A copy of an image that was compiled before; NULL: it is none. */
char *sim_cubin_copy(const void *image, size_t *bytes);

#endif
