/* The callbacks of CUPTI's domains of resources and synchronisation, made news of (news.h).
 *
 * What wrappers carry, or what is followed, is noted there and is no news. No lock is taken.
 */
#ifndef SC_CUPTI_HOOKS_RESOURCES_H
#define SC_CUPTI_HOOKS_RESOURCES_H

#include <stdint.h>

#include <cupti.h>

#include "cupti_hooks/news.h"

/* Before the first callback: who is told. */
void sc_resources_start(sc_news_told *told);

void sc_resources_hear(CUpti_CallbackDomain domain, uint32_t id, const void *about);

/* Calls enable for each callback that is to be heard. */
void sc_resources_each(void (*enable)(CUpti_CallbackDomain domain, uint32_t id));

#endif
