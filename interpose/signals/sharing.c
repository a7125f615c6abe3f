#include "interpose/signals/sharing.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

#include "interpose/base/loader.h"

#include "track/poison.h"

extern int __sigsuspend(const sigset_t *mask);

static bool on;
static _Atomic pid_t owner;

/* A function that no program defines itself. */
static bool is_reached(void)
{
    return sc_loader_symbol(RTLD_DEFAULT, "__sigsuspend") == (void *)__sigsuspend;
}

void sc_sharing_begin(bool wanted)
{
    on = wanted && is_reached();
    atomic_store(&owner, getpid());
}

bool sc_sharing_is_on(void)
{
    return on;
}

void sc_sharing_child(void)
{
    atomic_store(&owner, getpid());
}

bool sc_sharing_is_vfork_child(void)
{
    return getpid() != atomic_load(&owner);
}
