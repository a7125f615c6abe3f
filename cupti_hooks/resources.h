/* The callbacks of CUPTI's domains of resources and synchronisation, made news of (news.h).
 *
 * A call that a wrapper carries, or that is followed, is noted there and is no news. No lock is
 * taken. Not for a signal handler.
 */
#ifndef SC_CUPTI_HOOKS_RESOURCES_H
#define SC_CUPTI_HOOKS_RESOURCES_H

#include <stdint.h>

#include <cupti.h>

#include "cupti_hooks/news.h"

/* Says who is told. Pre: no callback has run yet. */
void sc_resources_start(sc_news_told *told);

void sc_resources_hear(CUpti_CallbackDomain domain, uint32_t id, const void *about);

/* Calls `enable` for each callback that is to be heard. */
void sc_resources_each(void (*enable)(CUpti_CallbackDomain domain, uint32_t id));

#endif
