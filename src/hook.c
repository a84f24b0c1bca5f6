#include "ufs.h"
#include <R_ext/Print.h>

void ufs_hook_step(const ufs_hook *hook, int iteration, double objective, double change)
{
    R_CheckUserInterrupt();
    if (hook == NULL) return;
    if (hook->verbose)
        Rprintf("%s %5d  objective %.8g  change %.3g\n", hook->name, iteration, objective, change);
    if (hook->call != NULL) hook->call(hook->data, iteration, objective, change);
}

void ufs_hook_wait(const ufs_hook *hook, int step)
{
    R_CheckUserInterrupt();
    if (hook != NULL && hook->watch) hook->call(hook->data, step, 0.0, 0.0);
}

void ufs_run_step(const ufs_run *run, double objective, double change)
{
    ufs_hook_step(&run->hook, run->iterations, objective, change);
}
