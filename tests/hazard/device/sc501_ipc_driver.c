// expect: SC501 action=ordered origin=cuIpcOpenMemHandle* direction=D2H event=cuMemcpyHtoD*
// options: device=1
// summary: shared_memory=2
//
// Memory of another process, opened twice: one stream is to read what another one overwrites.
#include "virtual.h"

#include <sys/wait.h>
#include <unistd.h>

/* The owner, a program of its own without the library: it tells on stdout, and goes when it is
 * told. */
static int own_memory(void)
{
    CUipcMemHandle handle;
    char told;
    driver_start();
    CHECK(cuIpcGetMemHandle(&handle, driver_device_block(SMALL, WANTED)));
    bool is_told = write(STDOUT_FILENO, &handle, sizeof handle) == sizeof handle &&
                   read(STDIN_FILENO, &told, 1) == 1;
    return is_told ? 0 : 1;
}

static void become_owner(const char *name, int in, int out)
{
    unsetenv("LD_PRELOAD");
    unsetenv("CUDA_INJECTION64_PATH");
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execl("/proc/self/exe", name, "owner", (char *)NULL);
    _exit(127);
}

static CUdeviceptr open_memory(const CUipcMemHandle *handle)
{
    CUdeviceptr address = 0;
    CHECK(cuIpcOpenMemHandle(&address, *handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
    return address;
}

int main(int argc, char **argv)
{
    if (argc > 1)
        return own_memory();
    int up[2], down[2], status = -1;
    CUipcMemHandle handle;
    if (pipe(up) != 0 || pipe(down) != 0)
        return 1;
    pid_t owner = fork();
    if (owner == 0)
        become_owner(argv[0], down[0], up[1]);
    close(up[1]);
    driver_start();
    CHECK(read(up[0], &handle, sizeof handle) != sizeof handle);
    CUstream first = driver_new_stream(), second = driver_new_stream();
    CUevent read_event = driver_new_event();
    void *source = driver_pinned_block(SMALL, FOREIGN), *target = driver_pinned_block(SMALL, 0);

    CUdeviceptr memory = open_memory(&handle);
    driver_busy(first);
    CHECK(cuMemcpyDtoHAsync(target, memory, SMALL, first));
    CHECK(cuEventRecord(read_event, first));
    memory = open_memory(&handle);
    if (fixed)
        CHECK(cuStreamWaitEvent(second, read_event, 0));
    CHECK(cuMemcpyHtoDAsync(memory, source, SMALL, second));
    CHECK(cuCtxSynchronize());
    CHECK(cuIpcCloseMemHandle(memory));
    CHECK(cuIpcCloseMemHandle(memory));
    CHECK(write(down[1], "", 1) != 1);
    CHECK(waitpid(owner, &status, 0) != owner || status != 0);
    return finish(holds(target, SMALL, WANTED));
}
