#include "interpose/guard/guard_totals.h"

#include "interpose/guard/guard_budget.h"
#include "interpose/guard/guarded_ranges.h"
#include "interpose/guard/userfaults.h"

#include "track/poison.h"

struct sc_report_guard sc_guard_totals_get(void)
{
    return (struct sc_report_guard){
        .by_mprotect = sc_guarded_ranges_count(false),
        .by_userfaultfd = sc_guarded_ranges_count(true),
        .userfaultfd = sc_userfaults_state(),
        .budget = sc_guard_budget,
    };
}
