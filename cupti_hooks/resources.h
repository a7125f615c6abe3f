/* CUPTI's callbacks for resources and synchronisation, from which news is made (news.h).
 *
 * Most calls that a wrapper carries, or that are followed, are noted there, and are no news. No
 * lock is taken. Not for a signal handler. */
#ifndef SC_CUPTI_HOOKS_RESOURCES_H
#define SC_CUPTI_HOOKS_RESOURCES_H

#include <stdint.h>

#include <cupti.h>

#include "cupti_hooks/news.h"

/* Sets the function that is told of news. Pre: no callback has run yet. */
void sc_resources_start(sc_news_receiver *told);

/* A callback of one of these domains: tells the news that it is, if any. */
void sc_resources_receive(CUpti_CallbackDomain domain, uint32_t id, const void *about);

/* Calls `enable` for each callback that news is made from. */
void sc_resources_each(void (*enable)(CUpti_CallbackDomain domain, uint32_t id));

#endif
