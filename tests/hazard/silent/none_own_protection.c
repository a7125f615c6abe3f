// expect: none
//
// The program protects its source itself while that is in flight, and finds it as it left it.
#include "mapping.h"

#include "touch.h"

static bool protection_is(const void *address, const char *wanted)
{
    char line[512];
    bool found = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        char *end;
        uintptr_t start = strtoull(line, &end, 16);
        uintptr_t stop = strtoull(end + 1, &end, 16);
        if (start <= (uintptr_t)address && (uintptr_t)address < stop)
            found = strncmp(end + 1, wanted, strlen(wanted)) == 0;
    }
    if (maps)
        fclose(maps);
    return found;
}

int main(void)
{
    cudaStream_t stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *source = registered_pages(LARGE, WANTED);

    busy(stream);
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
    if (mprotect(source, LARGE, PROT_READ) != 0)
        return 3;
    CHECK(cudaStreamSynchronize(stream));
    bool right = protection_is(source, "r--") && holds(source, LARGE, WANTED);
    if (mprotect(source, LARGE, PROT_READ | PROT_WRITE) != 0)
        return 3;
    fill(source, LARGE, FOREIGN);
    return finish(right && device_holds(device, LARGE, WANTED));
}
