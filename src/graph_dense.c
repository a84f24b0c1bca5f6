#include "graph_dense.h"
#include "la_packed.h"

/* Until the end a sample is labelled by the first one that it is known to hang together with. A
 * pair of one component is not read again; components join n - 1 times at most. */
int graph_dense_components(int n, const double *s, double threshold, int *label, int *order)
{
    int found = 0;

    for (int j = 0; j < n; j++) {
        const double *column = s + la_packed_column(j);
        label[j] = j;
        for (int i = 0; i < j; i++) {
            if (label[i] == label[j] || !(column[i] > threshold)) continue;
            int from = label[i] > label[j] ? label[i] : label[j];
            int to = label[i] > label[j] ? label[j] : label[i];
            for (int l = from; l <= j; l++)
                if (label[l] == from) label[l] = to;
        }
    }
    for (int i = 0; i < n; i++) {
        if (label[i] == i) order[i] = ++found;
        label[i] = order[label[i]];
    }
    return found;
}
