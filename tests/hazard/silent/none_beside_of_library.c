// expect: none
//
// A library of CUDA's is used for the first time within a capture, and fills the table that its
// captured work reads. It was given the memory before.
#include "left_out.h"
#include "plugin.h"

typedef int set_up(cudaError_t (*copy)(void *, const void *, size_t, enum cudaMemcpyKind),
                   void *table, const void *values, size_t size_bytes);

int main(void)
{
    cudaStream_t stream = new_stream();
    set_up *library_set_up = NULL;
    *(void **)&library_set_up = dlsym(open_beside("libcublas_like.so"), "sc_cublas_like_set_up");
    void *values = filled_block(SMALL, WANTED);
    void *table = device_block(SMALL, 0);
    void *result = device_block(SMALL, 0);

    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
    CHECK(library_set_up(cudaMemcpy, table, values, SMALL));
    capture_copy(result, table, stream);
    cudaGraphExec_t exec = end_capture(stream, 1);

    CHECK(cudaDeviceSynchronize());
    replay(exec, stream);
    replay(exec, stream);
    return finish(!broken && device_holds(result, SMALL, WANTED));
}
