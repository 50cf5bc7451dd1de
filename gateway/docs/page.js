// The reference page: the viewer, served by the gateway itself, over the gateway's own documents. That of devices, at
// `/docs/?devices`, is only to be read: devices have another port, and no browser has their certificates.
const forDevices = new URLSearchParams(window.location.search).has('devices');
window.ui = window.SwaggerUIBundle({
  url: forDevices ? 'devices.json' : '/v2/openapi.json',
  ...(forDevices && { supportedSubmitMethods: [] }),
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelExpandDepth: 3,
  defaultModelsExpandDepth: 1,
  displayRequestDuration: true,
  filter: true,
  persistAuthorization: false,
  tryItOutEnabled: !forDevices,
  validatorUrl: null,
});
