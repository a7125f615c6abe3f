/* For the twins whose sources have gaps: rows of a matrix, rows of the slices of a volume, and
 * uploads of them. What lies in the gaps is no copy's.
 *
 * Whatever takes a stream is statically inline for the reason that busy() is.
 */
#ifndef SC_TESTS_HAZARD_VOLUMES_H
#define SC_TESTS_HAZARD_VOLUMES_H

#include "touch.h"

/* A matrix has one slice. */
struct volume {
    size_t width, pitch, rows; /* of a slice */
    size_t slice_rows, slices; /* rows from one slice to the next */
};

static TWIN_HELPER size_t volume_bytes(const struct volume *volume)
{
    return volume->pitch * volume->slice_rows * volume->slices;
}

static TWIN_HELPER size_t packed_bytes(const struct volume *volume)
{
    return volume->width * volume->rows * volume->slices;
}

/* Where a packed copy has the byte `at`. */
static TWIN_HELPER size_t place_of(const struct volume *volume, size_t at)
{
    size_t row = at / volume->width;
    size_t slice = row / volume->rows;
    return (slice * volume->slice_rows + row % volume->rows) * volume->pitch + at % volume->width;
}

/* The rows alone. */
static TWIN_HELPER void fill_volume(void *memory, const struct volume *volume, unsigned seed)
{
    for (size_t at = 0; at < packed_bytes(volume); at++)
        ((unsigned char *)memory)[place_of(volume, at)] = pattern(seed, at);
}

static TWIN_HELPER bool volume_holds(const void *memory, const struct volume *volume, unsigned seed)
{
    for (size_t at = 0; at < packed_bytes(volume); at++)
        if (((const unsigned char *)memory)[place_of(volume, at)] != pattern(seed, at))
            return false;
    return true;
}

/* What lies between the rows alone. */
static TWIN_HELPER void fill_gaps(void *memory, const struct volume *volume, int gap)
{
    unsigned char *bytes = (unsigned char *)memory;
    for (size_t row = 0; row < volume->slice_rows * volume->slices; row++) {
        bool copied = row % volume->slice_rows < volume->rows;
        size_t from = copied ? volume->width : 0;
        memset(bytes + row * volume->pitch + from, gap, volume->pitch - from);
    }
}

/* One byte of it. */
static TWIN_HELPER void poke_volume(void *memory, const struct volume *volume, size_t at)
{
    ((volatile unsigned char *)memory)[place_of(volume, at)] = pattern(FOREIGN, at);
}

/* Heap memory that is registered and shares its first and its last page with other blocks; the last
 * byte of the rows lies on that last page. */
static TWIN_HELPER unsigned char *heap_volume(const struct volume *volume)
{
    enum { PAGE_BYTES = 4096, BESIDE = 64, BEHIND = 32 };
    size_t hull_bytes = place_of(volume, packed_bytes(volume) - 1) + 1;
    unsigned char *block =
        (unsigned char *)separate_block(volume_bytes(volume) + 2 * BESIDE + BEHIND, FOREIGN);
    unsigned char *start = block + BESIDE;
    if ((uintptr_t)(start + hull_bytes - 1) % PAGE_BYTES + BEHIND + 1 >= PAGE_BYTES)
        start += BESIDE;
    size_t registered_bytes = (size_t)(start - block) + hull_bytes + BEHIND;
    CHECK(cudaHostRegister(block, registered_bytes, cudaHostRegisterDefault));
    fill_volume(start, volume, WANTED);
    return start;
}

static TWIN_HELPER unsigned char *pinned_volume(const struct volume *volume)
{
    unsigned char *memory = (unsigned char *)pinned_block(volume_bytes(volume), FOREIGN);
    fill_volume(memory, volume, WANTED);
    return memory;
}

/* Device memory has the rows behind each other. */
static inline void upload_volume(void *device, void *memory, const struct volume *volume,
                                 cudaStream_t stream)
{
    struct cudaMemcpy3DParms box;
    memset(&box, 0, sizeof box);
    box.srcPtr = (struct cudaPitchedPtr){memory, volume->pitch, volume->pitch, volume->slice_rows};
    box.dstPtr = (struct cudaPitchedPtr){device, volume->width, volume->width, volume->rows};
    box.extent = (struct cudaExtent){volume->width, volume->rows, volume->slices};
    box.kind = cudaMemcpyHostToDevice;
    if (volume->slices > 1)
        CHECK(cudaMemcpy3DAsync(&box, stream));
    else
        CHECK(cudaMemcpy2DAsync(device, volume->width, memory, volume->pitch, volume->width,
                                volume->rows, cudaMemcpyHostToDevice, stream));
}

/* Uploads it, and writes one of its bytes too early, if not fixed. Was the upload right? */
static inline bool upload_and_poke(void *memory, const struct volume *volume, size_t at)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(packed_bytes(volume), 0);
    upload_volume(device, memory, volume, stream);
    if (fixed)
        CHECK(cudaStreamSynchronize(stream));
    poke_volume(memory, volume, at);
    CHECK(cudaStreamSynchronize(stream));
    return device_holds(device, packed_bytes(volume), WANTED);
}

#endif
