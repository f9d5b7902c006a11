#include "tests/support/certificates.hpp"

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <atomic>
#include <stdexcept>

namespace paddock::test {

namespace {

struct freer {
  void operator()(EVP_PKEY* x) const {
    EVP_PKEY_free(x);
  }
  void operator()(X509* x) const {
    X509_free(x);
  }
  void operator()(BIO* x) const {
    BIO_free(x);
  }
  void operator()(X509_EXTENSION* x) const {
    X509_EXTENSION_free(x);
  }
};
using key_ptr = std::unique_ptr<EVP_PKEY, freer>;
using certificate_ptr = std::unique_ptr<X509, freer>;
using bio_ptr = std::unique_ptr<BIO, freer>;

void require(bool ok) {
  if (!ok)
    throw std::runtime_error{"OpenSSL could not make a certificate"};
}

std::string text_of(BIO* from) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(from, &data);
  return {data, static_cast<std::size_t>(size)};
}

std::string pem_of(X509* x) {
  auto out = bio_ptr{BIO_new(BIO_s_mem())};
  require(PEM_write_bio_X509(out.get(), x) == 1);
  return text_of(out.get());
}

std::string pem_of(EVP_PKEY* x) {
  auto out = bio_ptr{BIO_new(BIO_s_mem())};
  require(PEM_write_bio_PrivateKey(out.get(), x, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  return text_of(out.get());
}

void extend(X509* to, X509* issuer, int nid, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, to, nullptr, nullptr, 0);
  auto made = std::unique_ptr<X509_EXTENSION, freer>{X509V3_EXT_conf_nid(nullptr, &context, nid, value.c_str())};
  require(made && X509_add_ext(to, made.get(), -1) == 1);
}

certificate_ptr certificate_for(const std::string& name, EVP_PKEY* key) {
  static std::atomic<long> serial{1};
  auto got = certificate_ptr{X509_new()};
  require(X509_set_version(got.get(), 2) == 1);
  ASN1_INTEGER_set(X509_get_serialNumber(got.get()), serial++);
  X509_gmtime_adj(X509_getm_notBefore(got.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(got.get()), 24 * 3600);
  require(X509_set_pubkey(got.get(), key) == 1);
  require(X509_NAME_add_entry_by_txt(X509_get_subject_name(got.get()), "CN", MBSTRING_UTF8,
                                     reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0)
          == 1);
  return got;
}

} // namespace

struct test_authority::keys {
  key_ptr key{EVP_EC_gen("P-256")};
  certificate_ptr certificate;
  std::string text;
};

test_authority::test_authority(const std::string& name) : keys_(std::make_unique<keys>()) {
  require(keys_->key != nullptr);
  keys_->certificate = certificate_for(name, keys_->key.get());
  auto* it = keys_->certificate.get();
  require(X509_set_issuer_name(it, X509_get_subject_name(it)) == 1);
  extend(it, it, NID_basic_constraints, "critical,CA:TRUE");
  extend(it, it, NID_key_usage, "critical,keyCertSign,cRLSign");
  require(X509_sign(it, keys_->key.get(), EVP_sha256()) != 0);
  keys_->text = pem_of(it);
}

test_authority::~test_authority() = default;

const std::string& test_authority::certificate() const {
  return keys_->text;
}

identity_pem test_authority::issue(const std::string& names) const {
  auto key = key_ptr{EVP_EC_gen("P-256")};
  require(key != nullptr);
  auto it = certificate_for("issued", key.get());
  auto* issuer = keys_->certificate.get();
  require(X509_set_issuer_name(it.get(), X509_get_subject_name(issuer)) == 1);
  extend(it.get(), issuer, NID_subject_alt_name, names);
  require(X509_sign(it.get(), keys_->key.get(), EVP_sha256()) != 0);
  return {pem_of(it.get()), pem_of(key.get())};
}

identity_pem test_authority::issue_client(const std::string& name, const std::vector<std::string>& organizations) const {
  auto key = key_ptr{EVP_EC_gen("P-256")};
  require(key != nullptr);
  auto it = certificate_for(name, key.get());
  for (const auto& x : organizations)
    require(X509_NAME_add_entry_by_txt(X509_get_subject_name(it.get()), "O", MBSTRING_UTF8,
                                       reinterpret_cast<const unsigned char*>(x.c_str()), -1, -1, 0)
            == 1);
  auto* issuer = keys_->certificate.get();
  require(X509_set_issuer_name(it.get(), X509_get_subject_name(issuer)) == 1);
  extend(it.get(), issuer, NID_ext_key_usage, "clientAuth");
  require(X509_sign(it.get(), keys_->key.get(), EVP_sha256()) != 0);
  return {pem_of(it.get()), pem_of(key.get())};
}

} // namespace paddock::test
