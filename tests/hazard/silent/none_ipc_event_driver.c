// expect: none
// needs: sim
//
// Another process downloads into memory that both have registered, and records an event that this
// one has opened. A small copy out of that memory waits for the event, and has to have the new
// bytes, though no other work was ever issued here.
#include "twin_driver.h"

#include <sys/mman.h>
#include <sys/wait.h>

enum { BYTES = 4096, TURNS = 3 };

static void *registered_memory(int file)
{
    void *memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(memory == MAP_FAILED);
    CHECK(cuMemHostRegister(memory, BYTES, 0));
    return memory;
}

static void tell(int file)
{
    CHECK(write(file, "", 1) != 1);
}

static void hear(int file)
{
    char told;
    CHECK(read(file, &told, 1) != 1);
}

/* The other process, a program of its own without the library: told on stdin, it tells on stdout.
 */
static int produce(int file)
{
    CUevent event = NULL;
    CUipcEventHandle handle;
    driver_start();
    void *memory = registered_memory(file);
    CUdeviceptr image = driver_device_block(BYTES, WANTED);
    CUstream stream = driver_new_stream();
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
    CHECK(cuIpcGetEventHandle(&handle, event));
    CHECK(write(STDOUT_FILENO, &handle, sizeof handle) != sizeof handle);
    for (int i = 0; i < TURNS; i++) {
        hear(STDIN_FILENO);
        driver_busy(stream);
        CHECK(cuMemcpyDtoHAsync(memory, image, BYTES, stream));
        CHECK(cuEventRecord(event, stream));
        tell(STDOUT_FILENO);
    }
    hear(STDIN_FILENO);
    return 0;
}

static void become_producer(const char *name, int file, int in, int out)
{
    char number[16];
    snprintf(number, sizeof number, "%d", file);
    unsetenv("LD_PRELOAD");
    unsetenv("CUDA_INJECTION64_PATH");
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execl("/proc/self/exe", name, number, (char *)NULL);
    _exit(127);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return produce(atoi(argv[1]));
    int up[2], down[2], status = -1, file = memfd_create("shared", 0);
    CHECK(file < 0 || ftruncate(file, BYTES) != 0 || pipe(up) != 0 || pipe(down) != 0);
    pid_t producer = fork();
    if (producer == 0)
        become_producer(argv[0], file, down[0], up[1]);
    CUipcEventHandle handle;
    CUevent event = NULL;
    bool right = true;
    driver_start();
    void *memory = registered_memory(file);
    CHECK(read(up[0], &handle, sizeof handle) != sizeof handle);
    CHECK(cuIpcOpenEventHandle(&event, handle));
    CUdeviceptr device = driver_device_block(BYTES, 0);
    CUstream stream = driver_new_stream();

    for (int i = 0; i < TURNS; i++) {
        fill(memory, BYTES, FOREIGN);
        tell(down[1]);
        hear(up[0]);
        CHECK(cuStreamWaitEvent(stream, event, 0));
        CHECK(cuMemcpyHtoDAsync(device, memory, BYTES, stream));
        CHECK(cuStreamSynchronize(stream));
        right = right && driver_device_holds(device, BYTES, WANTED);
    }
    tell(down[1]);
    CHECK(waitpid(producer, &status, 0) != producer || status != 0);
    return finish(right);
}
