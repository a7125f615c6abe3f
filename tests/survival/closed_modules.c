// expect-exit: 0
//
// Modules with registered static data come and go while something else is in flight; and dlclose of
// what is open twice, closed before, or the program itself.
#include "in_flight.h"

#include <dlfcn.h>

enum { SIZE = 64 << 10 };

static void when_closed(void)
{
    puts("the destructor has run");
}

static void *open_plugin(void)
{
    void *plugin = dlopen("libstatic_data.so", RTLD_NOW);
    if (!plugin)
        puts(dlerror());
    void (**told)(void) = (void (**)(void))dlsym(plugin, "sc_when_closed");
    *told = when_closed;
    return plugin;
}

static void copy_from(void *plugin, int value)
{
    static void *device;
    static cudaStream_t stream;
    unsigned char back[100];
    unsigned char *data = (unsigned char *)dlsym(plugin, "sc_static_data");
    if (!device) {
        CHECK(cudaMalloc(&device, SIZE));
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    }
    memset(data, value, SIZE);
    CHECK(cudaHostRegister(data, SIZE, cudaHostRegisterDefault));
    CHECK(cudaMemcpyAsync(device, data, SIZE, cudaMemcpyHostToDevice, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(data));
    CHECK(cudaMemcpy(back, device, sizeof back, cudaMemcpyDeviceToHost));
    printf("the device has %d\n", back[99]);
}

int main(void)
{
    use_cuda("before");
    edge_start();
    for (int i = 1; i <= 5; i++) {
        void *plugin = open_plugin();
        void *again = open_plugin();
        SHOW(plugin == again);
        copy_from(plugin, i);
        hold();
        SHOW(dlclose(plugin));
        puts("closed once");
        SHOW(dlclose(again));
        SHOW(dlopen("libstatic_data.so", RTLD_NOW | RTLD_NOLOAD) == NULL);
        release();
    }
    void *program = dlopen(NULL, RTLD_NOW);
    hold();
    SHOW(dlclose(program));
    SHOW(dlclose(program));
    release();
    return 0;
}
