// expect: none
//
// Parameters are sent on a blocking stream, and brought anew by a synchronous copy, which comes
// after that: nobody has overwritten them.
#include "twin.h"

enum { PARAMETERS = 4096, TURNS = 20 };

int main(void)
{
    cudaStream_t stream = blocking_stream();
    void *to = device_block(PARAMETERS, 0);
    void *source = pinned_block(PARAMETERS, 0);
    bool right = true;

    for (int turn = 0; turn < TURNS; turn++) {
        void *next = device_block(PARAMETERS, WANTED + turn + 1);
        fill(source, PARAMETERS, WANTED + turn);
        CHECK(cudaMemcpyAsync(to, source, PARAMETERS, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpy(source, next, PARAMETERS, cudaMemcpyDeviceToHost));
        right = right && holds(source, PARAMETERS, WANTED + turn + 1) &&
                device_holds(to, PARAMETERS, WANTED + turn);
        CHECK(cudaMemcpyAsync(to, source, PARAMETERS, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemset(source, 0, PARAMETERS));
        right = right && device_holds(to, PARAMETERS, WANTED + turn + 1);
        CHECK(cudaFree(next));
    }
    return finish(right);
}
