// The back end's verbs of attention.
#include <fmt/format.h>

#include <gnnbench/error.hpp>

#include "dynamic_attention.hpp"
#include "check.hpp"
#include "cuda_backend.hpp"
#include "prepared.hpp"

namespace gnnbench::cuda {
namespace {

template <class T>
Entries<T> entries_of(const PreparedMatrix& prepared) {
    const CsrView a = static_cast<const AttendedMatrix&>(prepared).attended();
    return {a.indptr, a.indices, static_cast<const T*>(a.values), a.rows};
}

/// Of a block of A, or of Aᵀ, whose columns attend.
EntryMask mask_of(const AttentionHeads& shape, const PreparedMatrix& prepared, bool transposed) {
    if (!shape.dropout.active()) return {};
    const CsrView a = static_cast<const AttendedMatrix&>(prepared).attended();
    require(a.nonzeros == 0 || a.row_vertices,
            "attention drops entries by their vertices, and the matrix was prepared without (Csr::row_vertices)");
    return {device_mask(shape.dropout, Draw::attention), transposed ? a.col_vertices : a.row_vertices,
            transposed ? a.row_vertices : a.col_vertices};
}

/// What calls of all four verbs say alike. `transposed`: v.a is a block of Aᵀ.
template <class T, template <class> class Call>
Call<T> call_of(const auto& v, bool transposed) {
    Call<T> call;
    call.a = entries_of<T>(v.a);
    call.dropout = mask_of(v.shape, v.a, transposed);
    call.kept_scale = static_cast<T>(v.shape.dropout.scale());
    call.heads = v.shape.heads;
    call.slope = static_cast<T>(v.shape.slope);
    return call;
}

}  // namespace

void CudaBackend::perform(const verb::Attend& v) {
    typed([&]<class T>(T) {
        auto call = call_of<T, AttendCall>(v, false);
        call.b = dense<T>(v.b);
        call.l = dense<T>(v.l);
        call.z = dense<T>(v.rows.z);
        call.slopes = dense<T>(v.rows.slopes);
        call.maxima = dense<T>(v.rows.maxima);
        call.sums = dense<T>(v.rows.sums);
        call.slope_sums = dense<T>(v.rows.slope_sums);
        call.first = v.stage.first;
        call.last = v.stage.last;
        check(cuda::attend(call, compute()), "launching attend");
    });
}

void CudaBackend::perform(const verb::AttendBackward& v) {
    typed([&]<class T>(T) {
        auto call = call_of<T, AttendBackwardCall>(v, true);
        call.b = dense<T>(v.b);
        call.own = dense<T>(v.own);
        call.c = dense<T>(v.c);
        call.first = v.stage.first;
        check(cuda::attend_backward(call, compute()), "launching attend_backward");
    });
}

void CudaBackend::perform(const verb::DynamicAttend& v) {
    typed([&]<class T>(T) {
        auto call = call_of<T, DynamicAttendCall>(v, false);
        call.vector = static_cast<const T*>(v.vector.data);
        call.b = dense<T>(v.b);
        call.s = dense<T>(v.s);
        call.z = dense<T>(v.rows.z);
        call.maxima = dense<T>(v.rows.maxima);
        call.sums = dense<T>(v.rows.sums);
        call.first = v.stage.first;
        call.last = v.stage.last;
        check(cuda::dynamic_attend(call, compute()), "launching dynamic_attend");
    });
}

void CudaBackend::perform(const verb::DynamicBackward& v) {
    typed([&]<class T>(T) {
        const bool of_rows = v.side == AttentionSide::rows;
        auto call = call_of<T, DynamicBackwardCall>(v, !of_rows);
        call.of_rows = of_rows;
        call.vector = static_cast<const T*>(v.vector.data);
        call.b = dense<T>(v.b);
        call.own = dense<T>(v.own);
        call.slopes = dense<T>(v.slopes);
        call.sums = dense<T>(v.sums);
        call.first = v.stage.first;
        check(cuda::dynamic_backward(call, compute()), "launching dynamic_backward");
    });
}

void CudaBackend::perform(const verb::HeadDots& v) {
    typed([&]<class T>(T) {
        check(cuda::head_dots(dense<T>(v.x), dense<T>(v.y), dense<T>(v.out), compute()), "launching head_dots");
    });
}

void CudaBackend::perform(const verb::HeadSums& v) {
    const auto count = usize(head_sum_parts(v.x.rows) * v.x.cols);
    auto* partial = static_cast<double*>(scratch(count * sizeof(double)));
    typed([&]<class T>(T) {
        check(cuda::head_sums(dense<T>(v.s), dense<T>(v.x), partial, static_cast<T*>(v.out.data), compute()),
              "launching head_sums");
    });
}

void CudaBackend::perform(const verb::AddHeads& v) {
    typed([&]<class T>(T) {
        check(cuda::add_heads(dense<T>(v.s), static_cast<const T*>(v.a.data), dense<T>(v.y), compute()),
              "launching add_heads");
    });
}

void CudaBackend::perform(const verb::RescaleHeads& v) {
    typed([&]<class T>(T) {
        check(cuda::rescale_heads(dense<T>(v.from), dense<T>(v.to), dense<T>(v.y), compute()),
              "launching rescale_heads");
    });
}

void CudaBackend::perform(const verb::MeanOfHeads& v) {
    typed([&]<class T>(T) {
        check(cuda::mean_of_heads(dense<T>(v.x), dense<T>(v.out), compute()), "launching mean_of_heads");
    });
}

void CudaBackend::perform(const verb::SpreadToHeads& v) {
    typed([&]<class T>(T) {
        check(cuda::spread_to_heads(dense<T>(v.g), dense<T>(v.out), compute()), "launching spread_to_heads");
    });
}

}  // namespace gnnbench::cuda
