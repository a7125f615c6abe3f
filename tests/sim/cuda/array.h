/* array.c: arrays are pitched device memory here, in rows as given. */
#ifndef SIM_ARRAY_H
#define SIM_ARRAY_H

#include "sim.h"

/* Where the array lies and its pitch and slice in bytes; false for a bad handle. */
bool sim_array_layout(CUarray array, uintptr_t *base, size_t *pitch, size_t *slice);
/* 0 for a bad handle. */
size_t sim_array_element_bytes(CUarray array);

/* `of_mipmaps`: it is a level of a mipmapped array, and ends with that alone. */
CUresult sim_array_create(CUarray *out, const CUDA_ARRAY3D_DESCRIPTOR *d, bool of_mipmaps);
void sim_array_destroy(CUarray array);
/* Waits for the device, as whoever gives arrays back does, or says why that may not be. */
CUresult sim_array_wait(void);
/* The bytes of an array that was made without memory; 0 for others. */
size_t sim_array_deferred_bytes(CUarray array);

#endif
