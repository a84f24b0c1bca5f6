/* entries.h: every function that R may call, one line each: its name in R without
 * C_, and how many arguments it takes. The list is used twice: ffi_util.h makes the
 * prototype of ffi_<name> of each, init.c its row of the table. */
#pragma once

/* clang-format off */
#define UFS_ENTRIES(ENTRY) \
    ENTRY(alnr, 3) /* ffi_<name>.c each */ \
    ENTRY(facility, 4) \
    ENTRY(inffs, 3) \
    ENTRY(kmeans, 5) \
    ENTRY(mcfs, 5) \
    ENTRY(ndfs, 5) \
    ENTRY(propagate, 5) \
    ENTRY(rrss, 3) \
    ENTRY(rsr, 4) \
    ENTRY(socfs, 4) \
    ENTRY(sogfs, 3) \
    ENTRY(spca, 4) \
    ENTRY(udfs, 3) \
    ENTRY(x_check, 5) /* ffi_x.c */ \
    ENTRY(x_planned, 2) \
    ENTRY(x_standardise, 3) \
    ENTRY(x_overwrite, 3) \
    ENTRY(x_trim, 0) \
    ENTRY(x_add, 2) \
    ENTRY(x_forms, 2) \
    ENTRY(x_column_forms, 2) \
    ENTRY(x_product, 3) \
    ENTRY(x_columns, 2) \
    ENTRY(x_ss, 1) \
    ENTRY(x_top_two, 1) \
    ENTRY(x_gram, 3) \
    ENTRY(x_pca, 4) \
    ENTRY(x_leading, 3) \
    ENTRY(x_ranks, 1) \
    ENTRY(x_closest, 3) \
    ENTRY(x_odd, 3) \
    ENTRY(x_hash, 2) \
    ENTRY(x_across, 2) \
    ENTRY(x_room, 1) \
    ENTRY(x_place, 3) \
    ENTRY(decoy_filled, 3) /* ffi_decoys.c */ \
    ENTRY(decoy_place, 6) \
    ENTRY(decoy_arrange, 4) \
    ENTRY(file_numbers, 3) /* ffi_spilled.c */ \
    ENTRY(moments, 1) /* ffi_input.c */ \
    ENTRY(judge, 2) \
    ENTRY(take, 5) \
    ENTRY(unit_rows, 3) \
    ENTRY(ted_greedy, 3) /* ffi_ted.c */ \
    ENTRY(ted_root, 1) \
    ENTRY(blfse, 6) /* ffi_blfse.c */ \
    ENTRY(laplacian_low, 2) \
    ENTRY(css, 3) /* ffi_css.c */ \
    ENTRY(css_leading, 3) \
    ENTRY(graph_knn, 2) /* ffi_graph.c */ \
    ENTRY(graph_products, 2) \
    ENTRY(graph_near, 2) \
    ENTRY(graph_lists, 6) \
    ENTRY(graph_describe, 3) \
    ENTRY(graph_mult, 3) \
    ENTRY(graph_check, 1) \
    ENTRY(graph_embed, 2) \
    ENTRY(alfs_basis, 1) /* ffi_alfs.c */ \
    ENTRY(alfs, 5) \
    ENTRY(spec_quadratic, 4) /* ffi_spec.c */ \
    ENTRY(spec_leading, 5) \
    ENTRY(jspca, 4) /* ffi_jspca.c */ \
    ENTRY(jspca_compress, 1) \
    ENTRY(jspca_lambda_max, 3) \
    ENTRY(topk, 5) /* ffi_topk.c */ \
    ENTRY(represent, 5) \
    ENTRY(topk_probe, 3) \
    ENTRY(test_x, 4) /* ffi_test.c: for tests/testthat alone */ \
    ENTRY(test_qp, 5) \
    ENTRY(test_anderson, 4) \
    ENTRY(test_lowest, 6) \
    ENTRY(test_cg, 5) \
    ENTRY(test_ridge, 5) \
    ENTRY(test_polar, 2) \
    ENTRY(test_eigs, 5) \
    ENTRY(test_inverse, 1) \
    ENTRY(test_gemm, 3) \
    ENTRY(test_proj, 2) \
    ENTRY(test_gl, 4) \
    ENTRY(test_topk_select, 7) \
    ENTRY(test_topk_label, 3)
/* clang-format on */
