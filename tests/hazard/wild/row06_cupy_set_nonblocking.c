// expect: SC101 action=deferred kind=registered certainty=observed
//
// docs/wild-bugs.md, row 6: `device.set(host, blocking=False)` does not keep its host array alive.
// The array's last reference goes away in the next statement and its memory with it.
#include "twin.h"

struct array {
    int references;
    void *data;
};

static void array_release(struct array *array)
{
    if (--array->references > 0)
        return;
    free(array->data);
    free(array);
}

static struct array *array_new(void)
{
    struct array *array = (struct array *)malloc(sizeof *array);
    if (!array)
        exit(3);
    array->references = 1;
    array->data = registered_block(SMALL, WANTED);
    return array;
}

static void set_nonblocking(void *device, struct array *host, cudaStream_t stream)
{
    CHECK(cudaMemcpyAsync(device, host->data, SMALL, cudaMemcpyHostToDevice, stream));
    if (fixed)
        host->references++;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(SMALL, 0);
    struct array *host = array_new();

    busy(stream);
    set_nonblocking(device, host, stream);
    array_release(host);
    void *owner = filled_block(SMALL, FOREIGN);

    CHECK(cudaStreamSynchronize(stream));
    if (fixed)
        array_release(host);
    return finish(device_holds(device, SMALL, WANTED) && holds(owner, SMALL, FOREIGN));
}
