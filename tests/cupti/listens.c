// run: -> cupti.state=unused coverage.calls=0 coverage.missed=0 #cupti=0
// run: cupti=off:strict=1 -> cupti.state=unused
// run: mode=off:cupti=require ->
// run: strict=1 -> cupti.state=listening coverage.calls=5 coverage.wrapped=5
// run: mode=report -> cupti.state=listening coverage.missed=0 #coverage=0
// run: cupti=require -> cupti.state=listening cupti.version=130001
// run: strict=1 CUDA_INJECTION64_PATH=out/libsafecopy.so -> coverage.wrapped=5 coverage.missed=0
// run: strict=1 SIM_CUPTI=held -> cupti:state=held cupti.detail=CUPTI_for_a_tool
// run: strict=1 SIM_CUPTI=old -> cupti.state=too-old cupti.version=10
// run: strict=1 SIM_CUPTI=broken -> cupti:detail=CUPTI_ERROR_NOT_INITIALIZED
// run: cupti=require SIM_CUPTI=held -> cupti:state=held exit_status=66 exit=66
// run: timeline=1 -> cupti.state=listening timeline.state=listening timeline.records>1
// run: timeline=1:mode=report -> timeline.state=listening timeline.dropped<2
// run: timeline=1:cupti=off -> timeline.state=unused #cupti=0 says=timeline=1_cannot_be_met:_it
// run: timeline=1 SIM_CUPTI=held -> timeline.state=held says=timeline=1_cannot_be_met:_CUPTI_is
// run: timeline=1 SIM_CUPTI=old -> cupti:state=too-old timeline.state=too-old
// run: timeline=1 CUDA_INJECTION64_PATH=out/libsafecopy.so -> timeline.state=listening
// run: cupti=require:exitcode=7 SIM_CUPTI=broken -> cupti.state=failed exit=7
/* Who listens, and when: a correct program under every setting. Each `run` is the options and the
 * environment, then what the report must have. */
#include "profiler.h"

int main(void)
{
    const char *options = getenv("SAFECOPY_OPTIONS");
    set_up();
    for (int i = 0; i < 3; i++)
        copy();
    CUDA(cudaFreeHost(pinned));

    /* Who does not want CUPTI does not even have it loaded. */
    int is_loaded = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD) != NULL;
    int is_wanted = strstr(options, "strict=1") || strstr(options, "mode=report") ||
                    strstr(options, "cupti=require") || strstr(options, "timeline=1");
    if (strstr(options, "cupti=off") || strstr(options, "mode=off"))
        is_wanted = 0;
    CHECK(is_loaded == is_wanted);
    return 0;
}
