/* Two devices and their streams. */
#ifndef SC_TESTS_HAZARD_PEERS_H
#define SC_TESTS_HAZARD_PEERS_H

#include "twin.h"

/* The other device than 0. Only a fixed build may go on where there is one device: with that both
 * are the same. */
static TWIN_HELPER int second_device(void)
{
    int devices = 0;
    CHECK(cudaGetDeviceCount(&devices));
    if (devices == 1 && !fixed)
        exit(finish(true));
    return devices > 1 ? 1 : 0;
}

/* Each may use the other's memory by itself. */
static TWIN_HELPER void open_to_each_other(int other)
{
    if (other == 0)
        return;
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceEnablePeerAccess(other, 0));
    CHECK(cudaSetDevice(other));
    CHECK(cudaDeviceEnablePeerAccess(0, 0));
}

static TWIN_HELPER cudaStream_t stream_of(int device)
{
    CHECK(cudaSetDevice(device));
    return new_stream();
}

static TWIN_HELPER cudaEvent_t event_of(int device)
{
    CHECK(cudaSetDevice(device));
    return new_event();
}

static TWIN_HELPER void *block_of(int device, size_t size_bytes, unsigned seed)
{
    CHECK(cudaSetDevice(device));
    return device_block(size_bytes, seed);
}

/* Device 0 first: a mistake begins in a stream of it. */
static TWIN_HELPER void synchronize(int other)
{
    CHECK(cudaSetDevice(0));
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaSetDevice(other));
    CHECK(cudaDeviceSynchronize());
}

#endif
