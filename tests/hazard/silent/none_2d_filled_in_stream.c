// expect: none
//
// The rows of small matrices are brought to the host in the stream, or written there by a host
// function, before the same stream sends them on: their bytes are not there yet when the call is
// made.
#include "volumes.h"

static const struct volume matrix = {64, 128, 16, 16, 1};

static void fill_rows(void *memory)
{
    fill_volume(memory, &matrix, WANTED);
}

int main(void)
{
    cudaStream_t stream = new_stream();
    const size_t bytes = packed_bytes(&matrix);
    void *from = device_block(bytes, WANTED);
    void *to = device_block(bytes, 0);
    void *other = device_block(bytes, 0);
    unsigned char *between = heap_volume(&matrix);
    unsigned char *filled = heap_volume(&matrix);
    fill_volume(between, &matrix, FOREIGN);
    fill_volume(filled, &matrix, FOREIGN);

    CHECK(cudaMemcpy2DAsync(between, matrix.pitch, from, matrix.width, matrix.width, matrix.rows,
                            cudaMemcpyDeviceToHost, stream));
    upload_volume(to, between, &matrix, stream);
    CHECK(cudaStreamSynchronize(stream));
    busy(stream);
    CHECK(cudaLaunchHostFunc(stream, fill_rows, filled));
    upload_volume(other, filled, &matrix, stream);

    CHECK(cudaStreamSynchronize(stream));
    return finish(device_holds(to, bytes, WANTED) && device_holds(other, bytes, WANTED));
}
