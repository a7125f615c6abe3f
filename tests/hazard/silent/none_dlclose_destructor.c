// expect: none
// options: stall_limit=60s
//
// A plugin's destructor opens what the copy of its static data waits behind, waits for the copy,
// and takes the registration back, so that nothing is in flight when the loader unmaps the plugin.
#include "plugin.h"

#include <semaphore.h>

static cudaStream_t stream;
static sem_t gate;
static void *source;

static void wait_at_gate(void *unused)
{
    (void)unused;
    sem_wait(&gate);
}

static void close_down(void)
{
    sem_post(&gate);
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaHostUnregister(source));
}

int main(void)
{
    stream = new_stream();
    void *device = device_block(LARGE, 0);
    void *plugin = open_plugin();
    source = plugin_data(plugin, WANTED);
    void (**when_closed)(void) = (void (**)(void))dlsym(plugin, "sc_when_closed");
    if (!when_closed)
        exit(3);
    *when_closed = close_down;

    sem_init(&gate, 0, 0);
    CHECK(cudaHostRegister(source, LARGE, 0));
    CHECK(cudaLaunchHostFunc(stream, wait_at_gate, NULL));
    CHECK(cudaMemcpyAsync(device, source, LARGE, cudaMemcpyHostToDevice, stream));
    CHECK(dlclose(plugin));
    return finish(device_holds(device, LARGE, WANTED));
}
