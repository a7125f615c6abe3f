#include "ear.h"

struct ear ear;

static void tell(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const CUpti_CallbackData *data)
{
    bool driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;

    if (data->callbackSite == CUPTI_API_ENTER)
        say(" %s%s[%u]#%u", driver ? "" : "R:", data->functionName, cbid, data->correlationId);
    else if (ear.tell_exit)
        say(" /%s#%u=%d", driver ? "" : "R:", data->correlationId,
            *(const int *)data->functionReturnValue);
}

void hear(void *user, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *about)
{
    (void)user;
    atomic_fetch_add(&ear.calls[domain], 1);
    if (ear.caller != 0 && ear.caller != thread_id())
        atomic_store(&ear.elsewhere, true);
    if (domain == CUPTI_CB_DOMAIN_RESOURCE) {
        if (ear.tell)
            say(" resource[%u]", cbid);
        return;
    }
    if (domain != CUPTI_CB_DOMAIN_DRIVER_API && domain != CUPTI_CB_DOMAIN_RUNTIME_API)
        return;
    atomic_fetch_add(&ear.inside, 1);
    if (ear.tell)
        tell(domain, cbid, about);
    if (ear.linger_ms != 0)
        sleep_ms(ear.linger_ms);
    if (ear.unsubscribe) {
        ear.unsubscribe = false;
        ear.unsubscribed = cupti.unsubscribe(subscriber);
    }
    if (ear.call_driver) {
        ear.call_driver = false;
        cuStreamQuery(LEGACY);
        ear.call_driver = true;
    }
    atomic_fetch_sub(&ear.inside, 1);
}

unsigned heard(void)
{
    unsigned sum = 0;

    for (size_t i = 0; i < COUNT(ear.calls); i++)
        sum += atomic_exchange(&ear.calls[i], 0);
    return sum;
}

CUresult set_up(void)
{
    return set_up_with(64 * KB);
}

bool begin(void)
{
    return set_up() == CUDA_SUCCESS && load_cupti();
}

CUptiResult subscribe(void)
{
    return cupti.subscribe(&subscriber, hear, NULL);
}
