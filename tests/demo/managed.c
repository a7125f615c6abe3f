// cflags: -fno-inline
// link: cuda
/* Two managed arrays that are larger than a device together: the program of docs/managed-memory.md.
 * Meant for the simulated GPU alone (SIM_GPU=devices=4:device_memory=1G): it ends with 2 where the
 * device has more than that. Its argument says what uses them: nothing, a prefetch of both, a
 * kernel of the second device, or each array a device of its own.
 *
 * Exit status 0: done; 3: a CUDA call failed.
 */
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const size_t ARRAY_BYTES = (size_t)768 << 20, USED_BYTES = 4096;

#define CHECK(call) check((int)(call), #call)

static void check(int result, const char *call)
{
    if (result == 0)
        return;
    fprintf(stderr, "%s: error %d\n", call, result);
    exit(3);
}

static float *make_weights(void)
{
    float *array = NULL;
    CHECK(cudaMallocManaged((void **)&array, ARRAY_BYTES, cudaMemAttachGlobal));
    return array;
}

static float *make_gradients(void)
{
    float *array = NULL;
    CHECK(cudaMallocManaged((void **)&array, ARRAY_BYTES, cudaMemAttachGlobal));
    memset(array, 0, USED_BYTES);
    return array;
}

/* The current device touches each page. */
static void train_on(float *array)
{
    static const char source[] =
        ".version 7.0\n.target sm_70\n.address_size 64\n"
        ".visible .entry touch_bytes(.param .u64 base, .param .u64 count)\n{\n"
        "    .reg .pred %p;\n    .reg .b64 %a, %e;\n    .reg .b32 %v;\n"
        "    ld.param.u64 %a, [base];\n    ld.param.u64 %e, [count];\n    add.u64 %e, %e, %a;\n"
        "again:\n    ld.global.u32 %v, [%a];\n    st.global.u32 [%a], %v;\n"
        "    add.u64 %a, %a, 4096;\n    setp.lt.u64 %p, %a, %e;\n    @%p bra again;\n    ret;\n}\n";
    size_t bytes = ARRAY_BYTES;
    void *parameters[] = {&array, &bytes};
    CUmodule module;
    CUfunction kernel;
    CHECK(cudaDeviceSynchronize());
    CHECK(cuModuleLoadData(&module, source));
    CHECK(cuModuleGetFunction(&kernel, module, "touch_bytes"));
    CHECK(cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, NULL, parameters, NULL));
    CHECK(cudaDeviceSynchronize());
}

static void send_to(int device, float *array)
{
    const struct cudaMemLocation there = {cudaMemLocationTypeDevice, device};
    CHECK(cudaMemPrefetchAsync(array, ARRAY_BYTES, there, 0, 0));
}

static void end_unless_small(void)
{
    size_t free_bytes, total_bytes;
    CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (total_bytes > 2 * ARRAY_BYTES)
        exit(2);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    end_unless_small();
    float *weights = make_weights(), *gradients = make_gradients();
    if (strcmp(how, "prefetch") == 0) {
        send_to(0, weights);
        send_to(0, gradients);
    } else if (strcmp(how, "elsewhere") == 0) {
        CHECK(cudaSetDevice(1));
        train_on(weights);
        train_on(gradients);
    } else if (strcmp(how, "shard") == 0) {
        send_to(0, weights);
        CHECK(cudaSetDevice(1));
        send_to(1, gradients);
    }
    CHECK(cudaMemcpyAsync(weights, gradients, USED_BYTES, cudaMemcpyDefault, 0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaFree(weights));
    CHECK(cudaFree(gradients));
    return 0;
}
