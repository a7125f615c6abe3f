// expect-exit: 0
// link: cuda
// strict-says: whose_work_there_is_not_seen:_1
//
// 256 MB that another process uses too, by an interprocess handle, and a child that is forked
// beside them and uses nothing: tests/unit/test_memory_formats.py looks at the reports.
#include <cuda.h>
#include <sys/wait.h>
#include <unistd.h>

#include "survival.h"

static const size_t SIZE = (size_t)256 << 20;

static void use_device(void)
{
    CUcontext context = NULL;
    CHECK(cuInit(0));
    CHECK(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(cuCtxSetCurrent(context));
}

static void wait_for(pid_t child)
{
    int status = 0;
    CHECK(waitpid(child, &status, 0) != child);
    CHECK(status);
}

/* The other process, which began before the driver was there. */
static void import_memory(int from)
{
    CUipcMemHandle handle;
    CUdeviceptr memory = 0;
    if (read(from, &handle, sizeof handle) != (ssize_t)sizeof handle)
        exit(4);
    use_device();
    CHECK(cuIpcOpenMemHandle(&memory, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
}

static void export_memory(int to)
{
    CUipcMemHandle handle;
    CUdeviceptr memory = 0;
    use_device();
    CHECK(cuMemAlloc(&memory, SIZE));
    CHECK(cuIpcGetMemHandle(&handle, memory));
    CHECK(write(to, &handle, sizeof handle) != (ssize_t)sizeof handle);
}

int main(void)
{
    int ends[2];
    CHECK(pipe(ends));
    pid_t importer = fork();
    if (importer == 0) {
        import_memory(ends[0]);
        return 0;
    }
    export_memory(ends[1]);
    wait_for(importer);
    pid_t idle = fork();
    if (idle == 0)
        return 0;
    wait_for(idle);
    return 0;
}
