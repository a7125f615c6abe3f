// expect: none
//
// The end of a text is looked for that lies beside a result: the search loads more than it heeds.
#include "touch.h"

struct answer {
    char name[9];
    char unit[7];
    unsigned char result[100];
};

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(100, WANTED);
    struct answer *answer = (struct answer *)pinned_block(sizeof *answer, 0);
    size_t (*volatile length)(const char *) = strlen;
    char *(*volatile find)(const char *, int) = strchr;
    strcpy(answer->name, "velocity");
    strcpy(answer->unit, "km/h");

    busy(stream);
    CHECK(cudaMemcpyAsync(answer->result, device, 100, cudaMemcpyDeviceToHost, stream));
    bool right = length(answer->name) == 8 && find(answer->unit, '/') == answer->unit + 2;

    CHECK(cudaStreamSynchronize(stream));
    return finish(right && holds(answer->result, 100, WANTED));
}
