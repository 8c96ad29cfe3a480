#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <gnnbench/transport.hpp>

#include "check/forwarding_backend.hpp"

namespace gnnbench::contract {

/// Forwards every verb to another back end and writes down the products: what a strategy really multiplies.
class RecordingBackend final : public ForwardingBackend {
public:
    using ForwardingBackend::ForwardingBackend;

    struct Product {
        bool sparse = false;
        std::int64_t rows = 0, inner = 0, columns = 0;  ///< of C [rows × columns] = A [rows × inner] · B
        std::string text() const {
            return fmt::format("{} {}x{}x{}", sparse ? "spmm" : "gemm", rows, inner, columns);
        }
    };
    std::vector<Product> take() { return std::exchange(products_, {}); }
    /// Of all matrices prepared so far.
    std::int64_t prepared_nonzeros() const { return prepared_nonzeros_; }

private:
    std::unique_ptr<PreparedMatrix> do_prepare(const Csr& a, TransposedProducts t) override {
        prepared_nonzeros_ += a.nonzeros();
        return ForwardingBackend::do_prepare(a, t);
    }
    using ForwardingBackend::perform;
    void perform(const verb::Spmm& v) override { multiply(v, {true, v.a.rows, v.a.cols, v.b.cols}); }
    void perform(const verb::SpmmUnprepared& v) override { multiply(v, {true, v.a.rows, v.a.cols, v.b.cols}); }
    void perform(const verb::SpmmTransposed& v) override { multiply(v, {true, v.a.cols, v.a.rows, v.b.cols}); }
    void perform(const verb::Gemm& v) override { multiply(v, {false, v.c.rows, v.inner(), v.c.cols}); }

    template <class Verb>
    void multiply(const Verb& v, const Product& product) {
        products_.push_back(product);
        inner().run(v);
    }

    std::vector<Product> products_;
    std::int64_t prepared_nonzeros_ = 0;
};

}  // namespace gnnbench::contract
