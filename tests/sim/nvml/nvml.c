/* The simulated libnvidia-ml: what this process has of each simulated device, as the driver knows
 * it. There are no other processes. SIM_NVML=none: the process is not in the list, as in a
 * namespace of processes. SIM_NVML=slow: it takes 2 s to start, and says on stderr when it has
 * started, and when it is asked. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_ARGUMENT = 2, NOT_FOUND = 6, INSUFFICIENT_SIZE = 7, UNINITIALIZED = 1 };

struct process {
    unsigned pid;
    unsigned long long bytes;
    unsigned gpu_instance, compute_instance;
};

/* "GPU-73696d75-...-302d6770752d3030": "simulated-gpu-0" and the number of the device. */
static const char uuid_begins[] = "GPU-73696d75-6c61-7465-642d-6770752d303";

static int is_mode(const char *name)
{
    const char *mode = getenv("SIM_NVML");
    return mode && strcmp(mode, name) == 0;
}

static int (*used)(int device, unsigned long long *bytes);

int nvmlInit_v2(void);
int nvmlInit_v2(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    void *found = driver ? dlsym(driver, "sim_cuda_used") : NULL;
    memcpy(&used, &found, sizeof used);
    if (is_mode("slow")) {
        sleep(2);
        fputs("NVML has started\n", stderr);
    }
    return found ? SUCCESS : UNINITIALIZED;
}

int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device)
{
    if (!uuid || !device)
        return INVALID_ARGUMENT;
    if (is_mode("slow"))
        fputs("NVML is asked\n", stderr);
    if (strncmp(uuid, uuid_begins, sizeof uuid_begins - 1) != 0)
        return NOT_FOUND;
    *device = (void *)(size_t)(uuid[sizeof uuid_begins - 1] - '0' + 1);
    return SUCCESS;
}

int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
                                            struct process *processes);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
                                            struct process *processes)
{
    unsigned long long bytes = 0;
    unsigned room = count ? *count : 0;
    if (!device || !count)
        return INVALID_ARGUMENT;
    if (!used || used((int)(size_t)device - 1, &bytes) != 0)
        return UNINITIALIZED;
    *count = bytes != 0 && !is_mode("none");
    if (*count > room)
        return INSUFFICIENT_SIZE;
    if (*count)
        processes[0] = (struct process){(unsigned)getpid(), bytes, ~0u, ~0u};
    return SUCCESS;
}
