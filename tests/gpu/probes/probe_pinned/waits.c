/* Which calls wait for the device or break a capture, and on which machine. */
#include "world.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

void section_waits(void)
{
    CUstream busy;
    cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING);
    char *at = map_huge(16 * MB);
    void *driver = NULL;
    memset(at, 1, 16 * MB);
#define BEHIND_WORK(call)                                                                          \
    do {                                                                                           \
        cuCtxSynchronize();                                                                        \
        cuLaunchHostFunc(busy, sleeper, (void *)100);                                              \
        double begin = now_us();                                                                   \
        CUresult rc = call;                                                                        \
        say("%s behind 100 ms of work: %d, %.1f ms\n", #call, (int)rc, (now_us() - begin) / 1e3);  \
    } while (0)
    BEHIND_WORK(cuMemHostRegister(at, 16 * MB, 3));
    BEHIND_WORK(cuMemHostUnregister(at));
    BEHIND_WORK(cuMemAllocHost(&driver, 16 * MB));
    BEHIND_WORK(cuMemFreeHost(driver));
    BEHIND_WORK(cuMemAllocHost(&driver, 8));
    BEHIND_WORK(cuMemFreeHost(driver));
    BEHIND_WORK(cuMemFreeHost(NULL));
    BEHIND_WORK(cuMemFreeHost(at));
    BEHIND_WORK(cuMemHostUnregister(at));
    cuCtxSynchronize();
    CUstream captured;
    CUgraph graph = NULL;
    cuStreamCreate(&captured, CU_STREAM_NON_BLOCKING);
    for (CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
         mode <= CU_STREAM_CAPTURE_MODE_RELAXED; mode++) {
        for (int call = 0; call < 4; call++) {
            void *made = (void *)0x11;
            CUresult rc = CUDA_SUCCESS, end;
            if (call == 1 && !driver)
                cuMemAllocHost(&driver, MB);
            cuStreamBeginCapture(captured, mode);
            if (call == 0)
                rc = cuMemAllocHost(&made, MB);
            else if (call == 1)
                rc = cuMemFreeHost(driver);
            else if (call == 2)
                rc = cuMemHostRegister(at, MB, 0);
            else
                rc = cuMemHostUnregister(at);
            end = cuStreamEndCapture(captured, &graph);
            say("capture mode %d, call %d (alloc, free, register, unregister): %d/%d", (int)mode,
                call, (int)rc, (int)end);
            if (call == 0)
                say(" pointer %s", made == (void *)0x11 ? "untouched" : made ? "set" : "NULL");
            say("\n");
            if (call == 1 && rc == CUDA_SUCCESS)
                driver = NULL;
        }
    }
}

static void show_file(const char *path)
{
    char text[256] = "";
    int fd = open(path, O_RDONLY);
    if (fd < 0 || read(fd, text, sizeof text - 1) <= 0)
        snprintf(text, sizeof text, "(%s)", strerror(errno));
    text[strcspn(text, "\n")] = '\0';
    say("%s: %s\n", path, text);
    if (fd >= 0)
        close(fd);
}

void section_machine(void)
{
    struct utsname name;
    int version = 0, value = 0;
    char model[64] = "";
    uname(&name);
    cuDriverGetVersion(&version);
    cuDeviceGetName(model, sizeof model, device);
    say("%s, driver %d, Linux %s, page %ld\n", model, version, name.release, sysconf(_SC_PAGESIZE));
    const struct {
        CUdevice_attribute which;
        const char *name;
    } asked[] = {
        {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, "unified addressing"},
        {CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
         "host pointer for registered"},
        {CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, "pageable access"},
        {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, "register supported"},
        {CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED, "read-only register"},
        {CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID, "host numa id"},
        {CU_DEVICE_ATTRIBUTE_INTEGRATED, "integrated"},
    };
    for (unsigned i = 0; i < COUNT(asked); i++) {
        cuDeviceGetAttribute(&value, asked[i].which, device);
        say("%s %d, ", asked[i].name, value);
    }
    say("\n");
    show_file("/sys/kernel/mm/transparent_hugepage/enabled");
    show_file("/sys/kernel/mm/transparent_hugepage/defrag");
    show_file("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
    show_file("/proc/sys/vm/overcommit_memory");
    show_file("/proc/sys/vm/max_map_count");
    show_file("/sys/devices/system/node/online");
}
