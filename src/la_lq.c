/* la_lq.c: the LQ factorisation. */
#include "la.h"

int la_lq_work(int m, int n)
{
    int query = -1, info = 0;
    double opt = 0.0, none = 0.0;
    F77_CALL(dgelqf)(&m, &n, &none, &m, &none, &opt, &query, &info);
    return (int) opt;
}

int la_lq(int m, int n, double *a, double *tau, double *work, int lwork)
{
    int info = 0;
    F77_CALL(dgelqf)(&m, &n, a, &m, tau, work, &lwork, &info);
    return info;
}
