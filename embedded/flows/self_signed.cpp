#include "embedded/flows/self_signed.hpp"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>

namespace paddock::embedded {

namespace {

struct freeing {
  void operator()(EVP_PKEY* x) const {
    EVP_PKEY_free(x);
  }
  void operator()(X509* x) const {
    X509_free(x);
  }
  void operator()(X509_EXTENSION* x) const {
    X509_EXTENSION_free(x);
  }
  void operator()(BIO* x) const {
    BIO_free(x);
  }
};
template <class T>
using owned = std::unique_ptr<T, freeing>;

constexpr long day = 24 * 3600;

bool extend(X509* it, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, it, it, nullptr, nullptr, 0);
  auto made = owned<X509_EXTENSION>{X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str())};
  return made && X509_add_ext(it, made.get(), -1) == 1;
}

bool fill(X509* it, EVP_PKEY* key, const std::string& address) {
  auto serial = std::uint64_t{0};
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1)
    return false;
  auto* name = X509_get_subject_name(it);
  return X509_set_version(it, X509_VERSION_3) == 1
         && ASN1_INTEGER_set_uint64(X509_get_serialNumber(it), serial >> 1) == 1
         // A clock that is a little behind still takes it; a node may run for years.
         && X509_gmtime_adj(X509_getm_notBefore(it), -day) != nullptr && X509_gmtime_adj(X509_getm_notAfter(it), 3650 * day) != nullptr
         && X509_set_pubkey(it, key) == 1
         && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, reinterpret_cast<const unsigned char*>("paddock embedded cluster"), -1,
                                       -1, 0)
              == 1
         && X509_set_issuer_name(it, name) == 1 && extend(it, NID_basic_constraints, "critical,CA:TRUE")
         && extend(it, NID_key_usage, "critical,digitalSignature,keyCertSign") && extend(it, NID_ext_key_usage, "serverAuth")
         && extend(it, NID_subject_alt_name, "IP:" + address + ",DNS:localhost") && X509_sign(it, key, EVP_sha256()) != 0;
}

std::string text_of(BIO* from) {
  char* data = nullptr;
  const auto size = BIO_get_mem_data(from, &data);
  return {data, static_cast<std::size_t>(size)};
}

} // namespace

tl::expected<self_signed, std::string> make_self_signed(const std::string& address) {
  auto key = owned<EVP_PKEY>{EVP_EC_gen("P-256")};
  auto it = owned<X509>{X509_new()};
  auto certificate = owned<BIO>{BIO_new(BIO_s_mem())};
  auto secret = owned<BIO>{BIO_new(BIO_s_mem())};
  if (!key || !it || !certificate || !secret || !fill(it.get(), key.get(), address) || PEM_write_bio_X509(certificate.get(), it.get()) != 1
      || PEM_write_bio_PrivateKey(secret.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr) != 1)
    return tl::unexpected{std::string{"the certificate of the API server could not be made"}};
  return self_signed{text_of(certificate.get()), text_of(secret.get())};
}

} // namespace paddock::embedded
