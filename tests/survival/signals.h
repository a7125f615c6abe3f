/* What the survival programs about signals share: sets, actions and faults as text. */
#ifndef SC_TESTS_SURVIVAL_SIGNALS_H
#define SC_TESTS_SURVIVAL_SIGNALS_H

#include "in_flight.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { PAGE = 4096 };

/* The kernel's 64 bits. */
static SURVIVAL_HELPER unsigned long bits_of(const sigset_t *set)
{
    unsigned long bits;
    memcpy(&bits, set, sizeof bits);
    return bits;
}

/* Into the frame of a handler, which has no more than those. */
static SURVIVAL_HELPER void put_mask(ucontext_t *context, sigset_t mask)
{
    unsigned long bits = bits_of(&mask);
    memcpy(&context->uc_sigmask, &bits, sizeof bits);
}

/* The thread's own mask. */
static SURVIVAL_HELPER unsigned long mask_now(void)
{
    sigset_t set;
    CHECK(pthread_sigmask(SIG_SETMASK, NULL, &set));
    return bits_of(&set);
}

static SURVIVAL_HELPER void show_mask(const char *who)
{
    printf("%s: mask %lx\n", who, mask_now());
}

static SURVIVAL_HELPER sigset_t only(int number)
{
    sigset_t set;
    sigemptyset(&set);
    if (number)
        sigaddset(&set, number);
    return set;
}

static SURVIVAL_HELPER sigset_t every(void)
{
    sigset_t set;
    sigfillset(&set);
    return set;
}

static SURVIVAL_HELPER void set_mask(sigset_t set)
{
    CHECK(pthread_sigmask(SIG_SETMASK, &set, NULL));
}

/* The program's own memory, on a page that a copy in flight has part of. */
static SURVIVAL_HELPER void touch_beside(const char *who)
{
    hold();
    (*(volatile unsigned char *)beside.block)++;
    release();
    printf("%s: touched beside a copy\n", who);
}

/* A page that faults however it is touched. */
static SURVIVAL_HELPER volatile char *no_page(void)
{
    void *page = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        _exit(3);
    return (volatile char *)page;
}

static SURVIVAL_HELPER void handle(int number, void (*handler)(int), int flags, sigset_t mask)
{
    struct sigaction action;
    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    action.sa_flags = flags;
    action.sa_mask = mask;
    CHECK(sigaction(number, &action, NULL));
}

typedef void info_handler(int number, siginfo_t *info, void *context);

static SURVIVAL_HELPER void handle_info(int number, info_handler *handler, int flags, sigset_t mask)
{
    handle(number, (void (*)(int))(uintptr_t)handler, flags | SA_SIGINFO, mask);
}

#endif
