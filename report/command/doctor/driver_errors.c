#include "report/command/doctor/driver_errors.h"

#include <stddef.h>

static const struct sc_driver_error rows[] = {
    {2, "CUDA_ERROR_OUT_OF_MEMORY", "there is no memory for a start",
     "See with nvidia-smi who has the GPU's memory, and ulimit -v"},
    {3, "CUDA_ERROR_NOT_INITIALIZED", "the driver could not start",
     "See dmesg for what the kernel's part says"},
    {34, "CUDA_ERROR_STUB_LIBRARY", "this libcuda is for linking alone",
     "Take the toolkit's folder `stubs` out of LD_LIBRARY_PATH"},
    {46, "CUDA_ERROR_DEVICE_UNAVAILABLE", "the GPU is another process's, or not to be had now",
     "See with nvidia-smi who has it, and its compute mode"},
    {100, "CUDA_ERROR_NO_DEVICE", "it sees no GPU",
     "Set CUDA_VISIBLE_DEVICES to GPUs that nvidia-smi -L lists, or unset it; start a container "
     "with --gpus all"},
    {101, "CUDA_ERROR_INVALID_DEVICE", "a GPU that was named is not there",
     "Set CUDA_VISIBLE_DEVICES to GPUs that nvidia-smi -L lists, or unset it"},
    {802, "CUDA_ERROR_SYSTEM_NOT_READY", "the machine's NVSwitch is not set up",
     "Start nvidia-fabricmanager, of the driver's version"},
    {803, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH", "libcuda and the kernel's part differ in version",
     "Load the kernel's part of the installed version (a reboot does), or take an older libcuda "
     "out of LD_LIBRARY_PATH"},
    {804, "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
     "this GPU cannot be used with a libcuda newer than the kernel's part",
     "Take the folder `compat` out of LD_LIBRARY_PATH, or install a newer driver"},
    {999, "CUDA_ERROR_UNKNOWN", "the driver could not start",
     "See dmesg; nvidia-modprobe -u -c=0 makes the device files, and a reboot what else is "
     "missing"},
};

/* Returns what an error of the driver's means, and what helps. */
const struct sc_driver_error *sc_driver_errors_find(int number)
{
    static const struct sc_driver_error other = {0, NULL, "the driver could not start",
                                                 "See cuda.h for the error's meaning, and dmesg"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].number == number)
            return &rows[i];
    return &other;
}
