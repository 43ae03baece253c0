// The software bill of materials in the CycloneDX format (https://cyclonedx.org/docs/1.6/json/), without times and serial
// numbers, so that the same build has the same bill.

/**
 * @param {{name: string, version: string}} program
 * @param {{name: string, version: string, license: string, purl?: string}[]} packages those that are part of it
 */
export const billOf = (program, packages) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.6',
  version: 1,
  metadata: { component: component('application', program) },
  components: packages.map((each) => component('library', each)),
});

function component(type, { name, version, license, purl = purlOf(name, version) }) {
  return { type, 'bom-ref': purl, name, version, licenses: [{ license: { id: license } }], purl };
}

/** The address of an npm package, as in https://github.com/package-url/purl-spec. */
const purlOf = (name, version) => `pkg:npm/${name.replace('@', '%40')}@${version}`;
