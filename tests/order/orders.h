/* orders.h - the orders that this build has. */
#ifndef TRS_TEST_ORDERS_H
#define TRS_TEST_ORDERS_H

#include "base/config.h"
#include "trireme.h"

static const trs_order orders[] = {
#if TRS_HAVE_METIS
    TRS_ORDER_ND,
#endif
#if TRS_HAVE_AMD
    TRS_ORDER_AMD,
#endif
    TRS_ORDER_NATURAL};
enum { NORDERS = sizeof orders / sizeof *orders };

#endif
