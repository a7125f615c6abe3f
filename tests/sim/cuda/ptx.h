/* ptx.c: as much of a module's text as a launch and its parameters take. */
#ifndef SIM_PTX_H
#define SIM_PTX_H

#include <stdbool.h>
#include <stddef.h>

struct sim_parameter {
    size_t offset, size;
};

enum { SIM_PARAMETERS_MAX = 32 };

/* The image's text if it is PTX, for the caller to free; NULL: it is something else. */
char *sim_ptx_copy(const void *image);

/* Fills in the parameters of the kernel as the device has them, and returns how many there are; -1
 * if the text has no such kernel. */
int sim_ptx_parameters(const char *text, const char *name,
                       struct sim_parameter parameters[SIM_PARAMETERS_MAX]);

/* Does the text call the device's function of that name? */
bool sim_ptx_calls(const char *text, const char *name);

#endif
